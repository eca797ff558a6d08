import type { App } from '@startgrid/grid/apps.ts'
import type { Setting } from '../project.ts'

/** What a person may ask for with `--with NAME`. */
export interface Option {
  /** `telemetry` */
  name: string
  /** A few words for `--help` and for a list to pick from: what the project then has. */
  title: string
  /**
   * Describes what the option adds to the project of an app.
   * @param read the text of a file that git tracks, by its path in this repository
   * @returns a sentence that says why the app cannot have the option, and what to do instead
   */
  describe(app: App, read: (path: string) => string): Addition | string
}

/** What an option adds. It changes nothing that is there without it, so every combination of options works. */
export interface Addition {
  /**
   * New files by path. In their texts, `{{name}}` stands for the npm name of the project, and `{{label}}` for a DNS label made of it. A file
   * that the server loads belongs below `src/`, which the image contains.
   */
  files: Readonly<Record<string, string>>
  /** Names of packages. The catalog of the workspace has their versions. */
  dependencies?: readonly string[]
  /** Arguments of the runtime in `npm start`, in `npm run dev` and in the image, such as `--import ./src/telemetry.ts`. */
  arguments?: readonly string[]
  /** Variables that the new files read. `compose.yaml` passes them on, and the README lists them. */
  environment?: readonly Setting[]
  /** A section of the README without its heading, which is the title of the option. */
  readme: string
}
