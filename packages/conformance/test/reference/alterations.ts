import { problemText } from './app.ts'
import type { Behaviour } from './behaviour.ts'
import { type Incoming, type Outgoing, replaceBody, replaceHeader } from './message.ts'

type Change = (response: Outgoing) => Outgoing

/** The header with these values, or without any. */
export function header(name: string, ...values: readonly string[]): Change {
  return (response) => replaceHeader(response, name, ...values)
}

/** The same on every response. */
export function withHeader(name: string, ...values: readonly string[]): Partial<Behaviour> {
  return { finish: header(name, ...values) }
}

export function content(body: string | Buffer): Change {
  return (response) => replaceBody(response, body)
}

export function withStatus(status: number): Change {
  return (response) => ({ ...response, status })
}

/** The same response as a problem with this status. */
export function asProblem(status: number, detail?: unknown): Change {
  return (response) => {
    const typed = replaceHeader(response, 'content-type', 'application/problem+json')
    return { ...replaceBody(typed, problemText(status, { detail })), status }
  }
}

export function onStatus(status: number, change: Change): Partial<Behaviour> {
  return { finish: (response) => (response.status === status ? change(response) : response) }
}

/** Changes what succeeds on paths that start so; `/` is only itself. */
export function onPath(path: string, change: Change): Partial<Behaviour> {
  const concerns = (target: string) => (path === '/' ? /^\/(?:\?|$)/.test(target) : target.startsWith(path))
  return {
    finish: (response, { target }) =>
      response.status === 200 && concerns(target) ? change(response) : response,
  }
}

export function onAssets(change: Change): Partial<Behaviour> {
  return onPath('/assets/', change)
}

export function onOptions(change: Change): Partial<Behaviour> {
  return { finish: (response, request) => (isOn(request, 'OPTIONS') ? change(response) : response) }
}

export function isOn({ method }: Incoming, other: string): boolean {
  return method === other
}

/** Decodes what can be decoded. */
export function decodeName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
