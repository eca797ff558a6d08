// The exports of dist/page/server.js for code without JSX. entry-server.tsx documents them.
import type { ReactElement } from 'react'
import type { Asset } from '../http/assets.ts'
import type { DocumentProps, PageProps } from './state.ts'

export type { Asset, DocumentProps, PageProps }

export declare const ASSETS: readonly Asset[]
export declare const ASSETS_DIR: URL
export declare function renderDocument(props: PageProps): string
export declare function documentElement(props: DocumentProps): ReactElement
export declare function renderPartial(locale: string, slug: string): string | undefined
