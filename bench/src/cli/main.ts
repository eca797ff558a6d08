import { BENCH } from './command-line.ts'
import { runProgram } from './program.ts'

// The reader may close the pipe early, as `head` does: that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await runProgram(BENCH, process.argv.slice(2))
// Something that was interrupted may still run, such as a download.
process.stdout.write('', () => process.exit(code))
