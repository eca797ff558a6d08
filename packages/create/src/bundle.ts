import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { AppSource } from '@startgrid/eject/eject-tree.ts'
import type { AppEntry } from '@startgrid/eject/picker.ts'

/** Everything that the package has of the repository. */
export interface Bundle {
  apps: readonly AppEntry[]
  options: readonly { name: string; title: string }[]
  /** By app: `fastify/ssr`. */
  sources: Readonly<Record<string, AppSource>>
}

/** @returns bytes of the file */
export function writeBundle(path: string, bundle: Bundle): number {
  const text = JSON.stringify(bundle)
  // Most files of the apps are the same: the window must hold more than one app.
  const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS }
  const bytes = brotliCompressSync(text, { params })
  writeFileSync(path, bytes)
  return bytes.length
}

export function readBundle(path: URL): Bundle {
  return JSON.parse(brotliDecompressSync(readFileSync(path)).toString()) as Bundle
}
