import { fileURLToPath } from 'node:url'
import express, { type Response, Router } from 'express'
import { closeFile, POLICY } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

const setHeaders = (response: Response) => {
  closeFile(response)
  response.setHeader('content-security-policy', POLICY)
}

export const staticFiles = Router()

// Ranges mean something with GET only (RFC 9110, 14.2), and with `If-Range` only for a strong ETag (13.1.5).
staticFiles.use('/public', (request, _response, next) => {
  if (request.method === 'HEAD' || request.get('if-range')?.startsWith('W/')) delete request.headers.range
  next()
})
// Of the names that begin with a dot, only this one is served (RFC 8615).
staticFiles.use('/public/.well-known', express.static(`${root}/.well-known`, { setHeaders }))
staticFiles.use('/public', express.static(root, { setHeaders }))
