// npm install @fastify/send
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import { openFile } from '#shared/files.ts'
import { route } from '../src/router.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

export const staticFiles = [
  route('GET', '/public/*', async (context) => {
    const path = context.path.slice('/public'.length)
    const { status, headers, stream } = await openFile(send, root, context.request, path)
    await context.stream(stream, status, headers)
  }),
]
