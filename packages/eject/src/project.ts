import type { Role } from '@startgrid/grid/apps.ts'
import type { Runtime } from '@startgrid/grid/frameworks.ts'

/** One setting that the project reads from its environment. */
export interface Setting {
  name: string
  /** As a person would write it; empty if there is no default. */
  default: string
  /** Half a sentence for a table. */
  meaning: string
}

/** One route of the project. */
export interface Route {
  method: string
  /** `/hello/:name` */
  path: string
  /** Half a sentence for a table. */
  response: string
}

/** An option of an app: what it adds, or a sentence that says why the app cannot have it. */
export type SourceOption =
  | { refused: string }
  | {
      /** A few words; the heading of its section in the README. */
      title: string
      files: Readonly<Record<string, string>>
      dependencies: Readonly<Record<string, string>>
      arguments: readonly string[]
      environment: readonly Setting[]
      readme: string
    }

/** A standalone service, as its generated files describe it. */
export interface Project extends SourceProject {
  /** Its npm name, and its name in the log. It may have a scope: `@acme/my-app`. */
  name: string
  /** Whether it has a package-lock.json from the start. */
  lockfile: boolean
  /** What options add before the server's file: `--import`, `./src/telemetry.ts`. */
  arguments: readonly string[]
  /** What options add to the README. */
  sections: readonly { title: string; text: string }[]
}

/** What is known of a service before a person has chosen its name and its options. */
export interface SourceProject {
  /** One sentence fragment for package.json and the README. */
  description: string
  framework: string
  /** Where a route finds the app's `Health`. */
  health: string
  /** Only for decisions: no file of the project contains this word or its values. */
  role: Role
  runtime: Runtime
  /** Whether it has a page, whose client files `npm run build` writes into dist/. */
  hasBuild: boolean
  /** Of its image and, without the last two numbers, of its CI: `26.10.0`. */
  nodeVersion: string
  /** Of its image, if it runs on Bun. */
  bunVersion: string
  /** Of its image: `1.30.6`. */
  nginxVersion: string
  /** As in package.json, by name. */
  dependencies: Readonly<Record<string, string>>
  devDependencies: Readonly<Record<string, string>>
  scripts: Readonly<Record<string, string>>
  environment: readonly Setting[]
  routes: readonly Route[]
  /** In Markdown, with headings of level 3: how to add what services need next. */
  recipes: string
  /** What differs from other frameworks, as a section in Markdown; may be empty. */
  particular: string
}

/**
 * The code of one standalone app, made by `code/code.ts` for Node and Bun, and by `njs/index.ts` for NGINX. The configuration files and
 * the manifest are added later, from the `Project` that is derived from it.
 */
export interface Code {
  /** Contents by path, `src/server.ts`; `src/`, `shared/`, `test/` and what builds them. */
  files: ReadonlyMap<string, string>
  /** Names of packages; the catalog of the workspace has their versions. */
  dependencies: readonly string[]
  devDependencies: readonly string[]
  scripts: Readonly<Record<string, string>>
  /** Options of the type checker, added to the common ones. */
  compilerOptions: Readonly<Record<string, unknown>>
  /** What the type checker looks at. */
  include: readonly string[]
  exclude?: readonly string[]
  environment: readonly Setting[]
}
