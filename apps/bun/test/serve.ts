import type { Service } from '#shared/process/lifecycle.ts'
import type { App } from '../src/service.ts'

/** A server on a free port, closed at the end of the block. */
export async function serve(app: App) {
  const server = Bun.serve({ ...app, hostname: '127.0.0.1', port: 0 } as Bun.Serve.Options<undefined>)
  return {
    url: `http://127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
}

/** What listens by itself, where its settings say. */
export async function start(service: Service) {
  return { url: await service.listen(), [Symbol.asyncDispose]: () => service.close() }
}
