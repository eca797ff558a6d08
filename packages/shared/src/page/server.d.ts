// The exports of dist/page/server.js, and of dev.ts, for code without JSX. entry-server.tsx documents them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReactElement } from 'react'
import type { PageName, PageProps } from './pages.ts'

export type { PageName, PageProps }

type Awaitable<Value> = Value | Promise<Value>

export declare const ASSETS: readonly string[]
export declare const ASSETS_DIR: URL
export declare function renderPage<Name extends PageName>(
  name: Name,
  props: PageProps<Name>,
): Awaitable<string>
export declare function pageElement<Name extends PageName>(
  name: Name,
  props: PageProps<Name>,
): Awaitable<ReactElement>
/** In development only: what serves the browser's files. */
export declare const vite:
  | {
      middlewares(request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void): void
      fetch(request: Request): Promise<Response>
    }
  | undefined
