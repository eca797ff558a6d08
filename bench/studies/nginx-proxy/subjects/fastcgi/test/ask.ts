import type { App } from '../src/base.ts'
import type { CgiResponse } from './support/records.ts'

export interface Asked {
  method?: string
  /** Variables of CGI: `HTTP_HOST`. */
  params?: Readonly<Record<string, string>>
  body?: string
  refusal?: 400 | 413 | 431
}

/** Calls an app as the responder does, without a connection. */
export function ask(app: App, url: string, asked: Asked = {}): Promise<CgiResponse> {
  const { method = 'GET', body = '', refusal } = asked
  const params = new Map(Object.entries({ REMOTE_ADDR: '127.0.0.1', ...asked.params }))
  return new Promise((resolve) => {
    app({ method, url, params, body: Buffer.from(body), refusal }, (status, headers, response = '') => {
      const sent = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
      resolve({ status, headers: Object.fromEntries(sent), body: Buffer.from(response) })
    })
  })
}
