import { kubernetes } from './kubernetes.ts'
import { nginx } from './nginx.ts'
import type { Option } from './option.ts'
import { telemetry } from './telemetry.ts'

/** What `--with` takes, in the order of `--help`. A new option needs an entry here, and no other file. */
export const OPTIONS: readonly Option[] = [telemetry, nginx, kubernetes]
