// The exports of dist/page/server.js for code without JSX. entry-server.tsx documents them.
import type { ReactElement } from 'react'
import type { DocumentProps, PageProps } from './state.ts'

export type { DocumentProps, PageProps }

export declare const ASSETS: readonly string[]
export declare const ASSETS_DIR: URL
export declare function renderDocument(props: PageProps): string
export declare function documentElement(props: DocumentProps): ReactElement
