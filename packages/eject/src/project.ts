import type { Runtime } from '@startgrid/grid/frameworks.ts'
import type { Role } from '@startgrid/grid/matrix.ts'

/** One setting that the project reads from its environment. */
export interface Setting {
  name: string
  /** As one would write it; empty where nothing is set. */
  default: string
  /** Half a sentence for a table. */
  meaning: string
}

/** One thing that the project answers. */
export interface Route {
  method: string
  /** `/hello/:name` */
  path: string
  /** Half a sentence for a table. */
  answer: string
}

/** A standalone service: what the files that are written for it say about it. */
export interface Project {
  /** Its npm name, and its name in the log. It may have a scope: `@acme/my-app`. */
  name: string
  /** One sentence fragment for package.json and the README. */
  description: string
  framework: string
  /** For deciding only: no file of the project says this word or its values. */
  role: Role
  runtime: Runtime
  /** With a page whose client files are built into dist/ by `npm run build`. */
  hasBuild: boolean
  /** The branch of Node for its image, its CI and `engines`: `26`. */
  nodeVersion: string
  /** Exact; only Bun's are run with it. */
  bunVersion: string
  /** The branch of the image: `1.30`. */
  nginxVersion: string
  /** As in package.json, by name. */
  dependencies: Readonly<Record<string, string>>
  devDependencies: Readonly<Record<string, string>>
  scripts: Readonly<Record<string, string>>
  environment: readonly Setting[]
  routes: readonly Route[]
}

/**
 * The code of one app on its own, as `apps/code.ts` makes it for Node and Bun and `njs/index.ts` for NGINX:
 * `(name: string, app: App) => Code`. Configuration files and the manifest come on top, from the `Project` that follows from it.
 */
export interface Code {
  /** Contents by path, `src/server.ts`; `src/`, `shared/`, `test/` and what builds them. */
  files: ReadonlyMap<string, string>
  /** Names of packages; the catalog of the workspace has their versions. */
  dependencies: readonly string[]
  devDependencies: readonly string[]
  scripts: Readonly<Record<string, string>>
  /** Of the type checker, beside what all have in common. */
  compilerOptions: Readonly<Record<string, unknown>>
  /** What the type checker looks at. */
  include: readonly string[]
  environment: readonly Setting[]
}
