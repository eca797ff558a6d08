// What React needs and njs's own engine lacks. Imported before React, which creates maps while it loads.
import 'core-js/modules/es.array.from.js'
import 'core-js/modules/es.map.js'
import 'core-js/modules/es.set.js'
import 'core-js/modules/es.weak-map.js'

// React reports errors with console.error.
if (typeof console === 'undefined') globalThis.console = { error: (error) => ngx.log(ngx.ERR, String(error)) }
