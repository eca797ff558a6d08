import { basename, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { CANCEL_SYMBOL, cancel, intro, multiselect, select, text } from '@clack/prompts'
import { CATALOGUE, type Role } from '@startgrid/grid/frameworks.ts'
import { APPS, type App, OPTIONS, type Option, whyNoName, whyNot } from './choices.ts'

/** The person left: Ctrl-C or Escape. */
export class Cancelled extends Error {
  override name = 'Cancelled'
}

const HINTS: Readonly<Record<Role, string>> = {
  hello: 'text and JSON: where an API begins',
  ssr: 'a React page, rendered on the server, with hot reload',
  status: 'one route that says OK: the least there is',
}

interface Known {
  app?: App | undefined
  options?: readonly Option[] | undefined
}

interface Asking {
  /** The first line. */
  title: string
  defaultPath: string
  input?: Readable
  output?: Writable
}

/** Asks on a terminal for what is not known: app, options, directory. @throws {Cancelled} */
export async function ask(known: Known, { title, defaultPath, ...streams }: Asking) {
  intro(title, streams)
  const app = known.app ?? (await askApp())
  const options = known.options ?? (await askOptions())
  const path = await answered(
    text({
      message: 'Directory',
      placeholder: defaultPath,
      defaultValue: defaultPath,
      validate: (value) => whyNoName(basename(resolve(value || defaultPath))),
      ...streams,
    }),
  )
  return { app, options, path }

  async function askApp(): Promise<App> {
    const frameworks = CATALOGUE.map(({ name: value, title: label }) => ({ value, label }))
    const framework = await answered(select({ message: 'Framework', options: frameworks, ...streams }))
    const apps = APPS.filter((one) => one.framework === framework)
    const options = apps.map((value) => ({ value, label: value.role, hint: HINTS[value.role] }))
    return answered(select({ message: 'What should it do?', options, ...streams }))
  }

  async function askOptions(): Promise<Option[]> {
    const offered = (Object.keys(OPTIONS) as Option[]).filter((one) => whyNot(app, one) === undefined)
    const options = offered.map((value) => ({ value, label: OPTIONS[value] }))
    const message = 'Options (space selects, return goes on)'
    return answered(multiselect({ message, options, required: false, ...streams }))
  }

  async function answered<Value>(prompt: Promise<Value | typeof CANCEL_SYMBOL>): Promise<Value> {
    const value = await prompt
    if (value !== CANCEL_SYMBOL) return value
    cancel('Nothing was written.', streams)
    throw new Cancelled()
  }
}
