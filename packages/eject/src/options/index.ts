import type { Option } from './option.ts'

/** What `--with` takes, in the order of `--help`. A new option needs an entry here, and no other file. */
export const OPTIONS: readonly Option[] = []
