import type { Framework, Role } from '@startgrid/grid/matrix.ts'

/** What runs it: Node, Bun, or NGINX with njs. */
export type Runtime = 'node' | 'bun' | 'nginx'

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
  /** Its npm name, also that of its image and in its log. */
  name: string
  /** One sentence fragment for package.json and the README. */
  description: string
  framework: Framework
  /** For deciding only: no file of the project says this word or its values. */
  role: Role
  runtime: Runtime
  /** With a page whose client files are built into dist/ by `npm run build`. */
  hasBuild: boolean
  /** The lowest Node that runs it, its tests and its tools: `26`. */
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
