import type { H3 } from 'h3'

/** Which of the three apps this process is: `node src/server.ts ssr`. */
const role = process.argv[2] ?? 'hello'
if (!['hello', 'ssr', 'status'].includes(role)) {
  console.error(`There is no app '${role}' here, only hello, ssr and status.`)
  process.exit(1)
}

export const routes: H3 = (await import(`./${role}.ts`))[role]
