import { findNginx } from '../../src/find/find.ts'

/** The NGINX to test with, or why there is none: it is not downloaded for that. */

const found = await findNginx({ download: false })

export const nginx = found.kind === 'none' ? undefined : found
/** For `skip`: false, or the reason and the command that helps. */
export const skip = found.kind === 'none' && found.describe()
