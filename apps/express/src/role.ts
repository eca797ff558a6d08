import type { Router } from 'express'

/** Which of the three apps this process is: `node src/server.ts ssr`. */
const role = process.argv[2] ?? 'hello'

export const routes: Router = (await import(`./${role}.ts`))[role]
