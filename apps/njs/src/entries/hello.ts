import { createApp } from '../app.ts'
import { hello } from '../hello.ts'

/** NGINX calls its function `respond` for each request. */
export default createApp(hello)
