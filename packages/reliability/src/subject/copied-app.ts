import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { App } from '@startgrid/grid/apps.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** A framework's package and packages/shared, as they are built, in a workspace of their own: what is broken here breaks nothing. */
export class CopiedApp {
  /** Absolute path of the framework's package. */
  readonly directory: string
  readonly #root = mkdtempSync(join(tmpdir(), 'startgrid-copy-'))

  constructor({ directory }: App) {
    this.directory = join(this.#root, 'apps', basename(directory))
    // Of the others links are enough: the links in node_modules are relative, and lead there.
    for (const name of ['node_modules', 'nginx']) symlinkSync(join(ROOT, name), join(this.#root, name))
    mkdirSync(join(this.#root, 'packages'))
    for (const name of readdirSync(join(ROOT, 'packages')).filter((one) => one !== 'shared'))
      symlinkSync(join(ROOT, 'packages', name), join(this.#root, 'packages', name))
    for (const [from, to] of [
      [join(ROOT, 'packages/shared'), join(this.#root, 'packages/shared')],
      [directory, this.directory],
    ] as const)
      cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  }

  /** Removes what the build made. @param part all of it, or a part such as `assets` */
  removeBuilt(part = ''): void {
    for (const place of [this.directory, join(this.#root, 'packages/shared')])
      rmSync(join(place, 'dist', part), { recursive: true, force: true })
  }

  remove(): void {
    rmSync(this.#root, { recursive: true })
  }
}
