import { deepEqual, ok } from 'node:assert/strict'
import {
  existsSync,
  globSync,
  mkdtempDisposableSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startNode, startProgram } from '@startgrid/cli/test-programs.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { parse } from 'yaml'
import type { App } from '../src/choices.ts'
import { ROOT } from '../src/source.ts'

export const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** A directory outside of the workspace, gone at the end of the block. */
export function temporaryDirectory() {
  return mkdtempDisposableSync(join(realpathSync(tmpdir()), 'eject-'))
}

/** That of this repository: a project has none without its packages for development. */
const BUN = join(ROOT, 'node_modules/.bin/bun')

/** What runs the test of the recipes. */
export const ASKING = {
  node: ['node', 'test/recipes.test.ts'],
  bun: ['bun', 'test', '--timeout=60000', './test/recipes.test.ts'],
  nginx: [],
} as const

export type PackageManager = 'npm' | 'pnpm'

/** All packages that the lockfile of this repository names, such as `vite@8.3.8`. */
const KNOWN = Object.keys(parse(readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8')).packages)
const versionOf = (known: string) => known.slice(known.lastIndexOf('@') + 1)

const COMMANDS: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ['npm'],
  pnpm: ['npx', '--yes', 'pnpm@12'],
}

/** A project as the person sees it who types commands in its directory, which is gone at the end of the block. */
export class ProjectDirectory {
  readonly #parent = temporaryDirectory()
  readonly path = join(this.#parent.path, 'my-app')
  readonly #command: readonly string[]
  readonly #env = {
    ...personalEnvironment(),
    CI: 'true',
    // The same packages, but the registry is not asked for known weaknesses.
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }

  constructor(packageManager: PackageManager = 'npm') {
    this.#command = COMMANDS[packageManager]
  }

  /** Runs `pnpm eject` without pnpm, which tells a script where it was typed. */
  async eject(app: string, options: readonly string[] = []): Promise<void> {
    const { INIT_CWD: _, ...env } = process.env
    const words = [app, this.path, ...options.flatMap((option) => ['--with', option])]
    const { code, stderr } = await startNode([CLI, ...words], { env }).ended
    deepEqual([code, stderr], [0, ''])
  }

  [Symbol.dispose]() {
    this.#parent.remove()
  }

  /** Runs `npm ARGS` to its end. @throws {Error} with all that it said, and the packages that are not ours, unless the exit code is 0 */
  async run(...args: readonly string[]): Promise<void> {
    const [file = '', ...first] = this.#command
    const { ended } = startProgram(file, [...first, ...args], { cwd: this.path, env: this.#env })
    const { code, stdout, stderr } = await ended
    if (code === 0) return
    const others = this.#listPackages().filter((name) => !KNOWN.includes(name))
    const changed = others.length === 0 ? '' : `\nNot tested in this repository: ${others.join(', ')}.`
    throw new Error(`${file} ${args.join(' ')} ends with ${code}:\n${stdout}${stderr}${changed}`)
  }

  /** What the lockfile of the project names. */
  #listPackages(): string[] {
    const read = (file: string) => {
      const path = join(this.path, file)
      return existsSync(path) ? parse(readFileSync(path, 'utf8')).packages : {}
    }
    const { '': _, ...ofNpm }: Record<string, { version?: string }> = read('package-lock.json')
    const names = Object.entries(ofNpm).map(
      ([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`,
    )
    return [...names, ...Object.keys(read('pnpm-lock.yaml'))]
  }

  /** Installs what the lockfile of this repository has, and not what was published since: a range takes a version of this morning. */
  async installKnown(): Promise<void> {
    const path = join(this.path, 'package.json')
    const text = readFileSync(path, 'utf8').replaceAll(/"\^(?=\d)/g, '"')
    // One override per version: it applies where the range of a package allows that version.
    const overrides = Object.fromEntries(KNOWN.map((known) => [known, versionOf(known)]))
    writeFileSync(path, `${JSON.stringify({ ...JSON.parse(text), overrides }, undefined, 2)}\n`)
    rmSync(join(this.path, 'package-lock.json'), { force: true })
    await this.run('install')
  }

  /** Moves all recipes into the app, and installs what their first lines say. With a page comes the test of this repository, too. */
  async addRecipes({ framework, role }: App, { known = false } = {}): Promise<void> {
    const ours = (word: string) => KNOWN.find((one) => one.startsWith(`${word}@`)) ?? word
    const recipes = globSync('*.ts', { cwd: join(this.path, 'recipes') })
    const texts = recipes.map((recipe) => readFileSync(join(this.path, 'recipes', recipe), 'utf8'))
    for (const n of [0, 1]) {
      const words = new Set(texts.flatMap((text) => installedBy(text)[n] ?? [])) // pnpm refuses a second --save-dev
      if (words.size > 0)
        await this.run('install', ...(known ? ['--save-exact', ...[...words].map(ours)] : words))
    }
    for (const recipe of recipes)
      renameSync(join(this.path, 'recipes', recipe), join(this.path, 'src', recipe))
    const migrations = join(this.path, 'recipes/migrations')
    if (existsSync(migrations)) renameSync(migrations, join(this.path, 'migrations'))
    if (role !== 'ssr') return
    const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
    const write = (name: string, text: string) => writeFileSync(join(this.path, 'test', name), text)
    for (const name of ['recipes.ts', 'postgres.ts'])
      write(name, read(`packages/shared/test/${name}`).replaceAll("'../src/", "'#shared/"))
    const test = read(`apps/${framework}/test/recipes.test.ts`).replaceAll(
      /'.*\/recipes\/(?=[\w-]+\.ts'\n)/g,
      "'../src/",
    )
    write('recipes.test.ts', test.replaceAll('../../../packages/shared/test/', './'))
  }

  /** Runs that test, as an image does: with what is there for production. */
  async askRecipes({ runtime }: App): Promise<void> {
    const [program = '', ...words] = ASKING[runtime]
    const { code, stdout, stderr } = await startProgram(program === 'bun' ? BUN : process.execPath, words, {
      cwd: this.path,
      env: { ...this.#env, NODE_ENV: 'production' },
    }).ended
    if (code !== 0) throw new Error(stdout + stderr)
  }

  /** Runs the words of a script on a free port until it is ready: without npm, whose shell does not pass on signals. */
  async start(script: 'start' | 'dev', env: Readonly<Record<string, string>> = {}) {
    const port = await claimPort({ host: '127.0.0.1', port: 0 })
    const { scripts } = JSON.parse(readFileSync(join(this.path, 'package.json'), 'utf8'))
    const [program = '', ...words] = scripts[script].split(' ')
    const file = program === 'node' ? process.execPath : join(this.path, 'node_modules/.bin', program)
    const { child, ended, stdout, stderr } = startProgram(file, words, {
      cwd: this.path,
      env: {
        ...this.#env,
        PORT: String(port),
        LOG_LEVEL: 'warn',
        MAX_QUEUE_WAIT_MS: '0', // no page is refused because the machine is busy
        ...env,
      },
    })
    for (let tries = 0; !(await isReady(port)); tries++) {
      ok(child.exitCode === null && tries < 600, `It is not ready: ${stderr()}`)
      await sleep(100)
    }
    return {
      target: { host: '127.0.0.1', port },
      url: `http://127.0.0.1:${port}`,
      stdout,
      stderr,
      /** @returns the exit code */
      async stop(): Promise<number | null> {
        child.kill('SIGTERM')
        return (await ended).code
      },
    }
  }
}

/** The words of `// npm install ws && npm install --save-dev @types/ws`, the first line of a recipe: for the app, and for development. */
export function installedBy(recipe: string): string[][] {
  const [line = ''] = recipe.split('\n')
  if (!line.startsWith('// npm install ')) return []
  return line.split(' && ').map((command) => command.replace('// ', '').split(' ').slice(2))
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}

/**
 * The environment of a person who has a Node, and nothing of the workspace: neither its programs on the PATH nor what pnpm, turbo and
 * the test runner tell the processes that they start.
 */
function personalEnvironment(): NodeJS.ProcessEnv {
  const { PATH = '', ...others } = process.env
  const strangers = PATH.split(delimiter).filter((directory) => !directory.startsWith(ROOT))
  const kept = Object.entries(others).filter(
    ([name]) =>
      !/^(npm_(?!config_(registry|cache|userconfig)$)|pnpm_|TURBO|NODE_TEST|NODE_ENV$|INIT_CWD$)/i.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    // npm's own settings for certificates are found beside the Node of the machine, and this is another one.
    NODE_USE_SYSTEM_CA: '1',
    PATH: [dirname(process.execPath), ...strangers].join(delimiter),
  }
}
