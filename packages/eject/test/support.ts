import { ok } from 'node:assert/strict'
import { globSync, mkdtempDisposableSync, readFileSync, realpathSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startNode, startProgram } from '@startgrid/cli/test-programs.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { ROOT } from '../src/source.ts'

export const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** Runs `pnpm eject` without pnpm, which tells a script where it was typed. */
export function runEject(args: readonly string[]) {
  const { INIT_CWD: _, ...env } = process.env
  return startNode([CLI, ...args], { env }).ended
}

/** A directory outside of the workspace, gone at the end of the block. */
export function temporaryDirectory() {
  return mkdtempDisposableSync(join(realpathSync(tmpdir()), 'eject-'))
}

export type PackageManager = 'npm' | 'pnpm'

const COMMANDS: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ['npm'],
  pnpm: ['npx', '--yes', 'pnpm@12'],
}

/** A project as the person sees it who types commands in its directory. */
export class ProjectDirectory {
  readonly #path: string
  readonly #command: readonly string[]
  readonly #env = {
    ...personalEnvironment(),
    CI: 'true',
    // The same packages, but the registry is not asked for known weaknesses.
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }

  constructor(path: string, packageManager: PackageManager) {
    this.#path = path
    this.#command = COMMANDS[packageManager]
  }

  /** Runs `npm ARGS` to its end. @throws {Error} with all that it said, unless the exit code is 0 */
  async run(...args: readonly string[]): Promise<void> {
    const [file = '', ...first] = this.#command
    const { ended } = startProgram(file, [...first, ...args], { cwd: this.#path, env: this.#env })
    const { code, stdout, stderr } = await ended
    if (code !== 0) throw new Error(`${file} ${args.join(' ')} ends with ${code}:\n${stdout}${stderr}`)
  }

  /** Moves all recipes into the app, and installs what their first lines say. @returns their names */
  async addRecipes(): Promise<string[]> {
    const recipes = globSync('*.ts', { cwd: join(this.#path, 'recipes') })
    for (const recipe of recipes) {
      const [line = ''] = readFileSync(join(this.#path, 'recipes', recipe), 'utf8').split('\n')
      const commands = line.startsWith('// npm ') ? line.slice('// '.length).split(' && ') : []
      for (const command of commands) await this.run(...command.split(' ').slice(1))
      renameSync(join(this.#path, 'recipes', recipe), join(this.#path, 'src', recipe))
    }
    return recipes
  }

  /** Runs the words of a script on a free port until it is ready: without npm, whose shell does not pass on signals. */
  async start(script: 'start' | 'dev', env: Readonly<Record<string, string>> = {}) {
    const port = await claimPort({ host: '127.0.0.1', port: 0 })
    const { scripts } = JSON.parse(readFileSync(join(this.#path, 'package.json'), 'utf8'))
    const [program = '', ...words] = scripts[script].split(' ')
    const file = program === 'node' ? process.execPath : join(this.#path, 'node_modules/.bin', program)
    const { child, ended, stderr } = startProgram(file, words, {
      cwd: this.#path,
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
      /** @returns the exit code */
      async stop(): Promise<number | null> {
        child.kill('SIGTERM')
        return (await ended).code
      },
    }
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}

/** Loads recipes, all but the one that starts processes, with what they read. */
export function loading(recipes: readonly string[]) {
  const loaded = recipes.filter((recipe) => recipe !== 'cluster.ts')
  return {
    script: loaded.map((recipe) => `await import('./src/${recipe}')`).join('\n'),
    env: { SESSION_SECRET: 'a secret of at least 32 characters', UPSTREAM_URL: 'http://127.0.0.1' },
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
