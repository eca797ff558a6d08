import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeProgram } from './tarball.ts'

/** Writes dist/. npm runs this before it packs. */

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
rmSync(DIST, { recursive: true, force: true })
await writeProgram(DIST)
