import { createLog } from '@startgrid/shared/log.ts'

/** The log of the apps, which writes lines together. By default, the packages write each line when it is there. */
export const log = process.argv[2]?.endsWith('-usual') ? createLog({ LOG_LEVEL: 'info' }) : undefined
