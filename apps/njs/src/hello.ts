import { greeting, JSON_TEXT, PLAIN_TEXT } from '#shared/http/contract.ts'
import { type Answer, createApp, type NginxRequest } from './base.ts'

export function hello(): Answer {
  return { type: PLAIN_TEXT, body: 'Hello World!' }
}

export function json(): Answer {
  return { type: JSON_TEXT, body: JSON.stringify({ hello: 'world' }) }
}

export function greet(_request: NginxRequest, [name = '']: readonly string[]): Answer {
  return { type: PLAIN_TEXT, body: greeting(name) }
}

export default createApp({ '/': hello, '/json': json, '/hello/:name': greet })
