import '../polyfill.ts'
import { createApp } from '../app.ts'
import { ssr } from '../ssr.ts'

/** NGINX calls its function `respond` for each request. */
export default createApp(ssr)
