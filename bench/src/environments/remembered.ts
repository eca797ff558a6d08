import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const DIRECTORY = fileURLToPath(new URL('../../.cache/', import.meta.url))

/** Only what was asked for lately is kept: fingerprints of changed files never come back. */
const KEPT = 500

/** What earlier runs found out in this checkout, by fingerprint. Losing it costs time only. */
export class Memory<Value> {
  readonly #path: string
  readonly #values: Map<string, Value>

  /** @param name of its file in bench/.cache */
  constructor(name: string) {
    this.#path = `${DIRECTORY}${name}.json`
    this.#values = read<Value>(this.#path)
  }

  get(fingerprint: string): Value | undefined {
    return this.#values.get(fingerprint)
  }

  set(fingerprint: string, value: Value): void {
    this.#values.delete(fingerprint)
    this.#values.set(fingerprint, value)
  }

  save(): void {
    try {
      mkdirSync(dirname(this.#path), { recursive: true })
      writeFileSync(this.#path, JSON.stringify(Object.fromEntries([...this.#values].slice(-KEPT))))
    } catch {
      // A read-only checkout finds everything out each time.
    }
  }
}

function read<Value>(path: string): Map<string, Value> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, Value>))
  } catch {
    return new Map() // there is none yet, or it is not ours to read
  }
}
