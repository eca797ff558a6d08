// The exports of dist/page/server.js for code without JSX. entry-server.tsx documents them.
import type { ReactElement } from 'react'
import type { PageName, PageProps } from './pages.ts'

export type { PageName, PageProps }

export declare const ASSETS: readonly string[]
export declare const ASSETS_DIR: URL
export declare function renderPage<Name extends PageName>(name: Name, props: PageProps<Name>): string
export declare function pageElement<Name extends PageName>(name: Name, props: PageProps<Name>): ReactElement
