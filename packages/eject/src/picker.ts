import type { Readable, Writable } from 'node:stream'
import { CANCEL_SYMBOL, cancel, intro, multiselect, select, text } from '@clack/prompts'
import { EjectError } from './eject-error.ts'
import { checkProjectName, nameFor } from './project-name.ts'

/** An app as a person picks it. */
export interface AppEntry {
  /** `fastify/ssr` */
  name: string
  framework: string
  /** `Fastify` */
  frameworkTitle: string
  role: string
  /** What it is, in a few words. */
  roleTitle: string
}

/** What a person chose, as far as it is known. */
export interface Choice {
  framework?: string | undefined
  role?: string | undefined
  /** Where the project is written, as typed. */
  path?: string | undefined
  options?: readonly string[] | undefined
}

/** A whole choice. */
export interface Chosen {
  framework: string
  role: string
  path: string
  options: readonly string[]
}

export interface PickerOptions {
  apps: readonly AppEntry[]
  /** Options of an app; `refused` says why it cannot have one. */
  optionsOf(app: string): Promise<readonly { name: string; title: string; refused?: string }[]>
  /** The first line. */
  title: string
  defaultPath: string
  input?: Readable
  output?: Writable
  signal?: AbortSignal
}

/** The person left the picker: Ctrl-C or Escape. */
export class Cancelled extends Error {
  override name = 'Cancelled'
}

/**
 * Asks on a terminal for what is missing: framework, role, options, directory.
 * @throws {Cancelled}
 */
export async function pick(known: Choice, options: PickerOptions): Promise<Chosen> {
  const { apps, optionsOf, title, defaultPath, input, output, signal } = options
  const streams = { ...(input && { input }), ...(output && { output }), ...(signal && { signal }) }
  intro(title, streams)
  const framework =
    known.framework ??
    (await answered(
      select({
        message: 'Framework',
        options: entriesOf(
          apps.filter(({ role }) => known.role === undefined || role === known.role),
          ({ framework: value, frameworkTitle: label }) => ({ value, label }),
        ),
        ...streams,
      }),
    ))
  const role =
    known.role ??
    (await answered(
      select({
        message: 'What should it do?',
        options: entriesOf(
          apps.filter((app) => app.framework === framework),
          ({ role: value, roleTitle: hint }) => ({ value, label: value, hint }),
        ),
        ...streams,
      }),
    ))
  const chosen = known.options ?? (await pickOptions())
  const path =
    known.path ??
    (await answered(
      text({
        message: 'Directory',
        placeholder: defaultPath,
        defaultValue: defaultPath,
        validate: (value) => whyNoName(value || defaultPath),
        ...streams,
      }),
    ))
  return { framework, role, options: chosen, path }

  async function pickOptions(): Promise<readonly string[]> {
    const offered = (await optionsOf(`${framework}/${role}`)).filter(({ refused }) => refused === undefined)
    if (offered.length === 0) return []
    return answered(
      multiselect({
        message: 'Options (space selects, return goes on)',
        options: offered.map(({ name: value, title: label }) => ({ value, label })),
        required: false,
        ...streams,
      }),
    )
  }

  async function answered<Value>(prompt: Promise<Value | typeof CANCEL_SYMBOL>): Promise<Value> {
    const value = await prompt
    if (value !== CANCEL_SYMBOL) return value
    cancel('Nothing was written.', streams)
    throw new Cancelled()
  }
}

/** One entry per value, in the order of the apps. */
function entriesOf<Entry extends { value: string }>(
  apps: readonly AppEntry[],
  of: (app: AppEntry) => Entry,
): Entry[] {
  return [...new Map(apps.map(of).map((entry) => [entry.value, entry])).values()]
}

function whyNoName(path: string): string | undefined {
  try {
    checkProjectName(nameFor(path))
    return undefined
  } catch (error) {
    if (error instanceof EjectError) return error.message
    throw error
  }
}
