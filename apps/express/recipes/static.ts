import { fileURLToPath } from 'node:url'
import express, { Router } from 'express'

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = Router()

staticFiles.use(
  '/public',
  express.static(fileURLToPath(new URL('../public', import.meta.url)), {
    setHeaders: (response) => response.setHeader('content-security-policy', POLICY),
  }),
)
