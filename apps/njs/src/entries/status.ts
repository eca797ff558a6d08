import { createApp } from '../app.ts'
import { status } from '../status.ts'

/** NGINX calls its function `respond` for each request. */
export default createApp(status)
