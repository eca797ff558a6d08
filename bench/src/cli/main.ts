import { BENCH } from './command-line.ts'
import { runMain } from './program.ts'

await runMain(BENCH)
