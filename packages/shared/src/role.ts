/** Which of the three apps this process is: `node src/server.ts ssr`. A project has one, and not this file. */
export const role = process.argv[2] ?? 'hello'
if (!['hello', 'ssr', 'status'].includes(role)) {
  console.error(`There is no app '${role}' here, only hello, ssr and status.`)
  process.exit(1)
}
