import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'

/** What is used of Bun's global object: the types of Bun would hide those of Node from the rest of the package. */
declare const Bun: {
  serve(options: { hostname: string; port: number; routes: Record<string, () => Response> }): { port: number }
}

export function bare(): { port: number } {
  return serve(() => Response.json({ hello: 'world' }))
}

export function withHeaders(): { port: number } {
  return serve(() =>
    Response.json(
      { hello: 'world' },
      { headers: { ...SECURITY_HEADERS, 'x-request-id': crypto.randomUUID() } },
    ),
  )
}

function serve(json: () => Response): { port: number } {
  return Bun.serve({ hostname: '127.0.0.1', port: 0, routes: { '/json': json } })
}
