import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { createPage } from '../../runtimes/servers/page.js'

const require = createRequire(new URL(`${process.argv[2]}/package.json`, import.meta.url))
const page = createPage(require('react'), require('react-dom/server'))

createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(page())
}).listen(process.env.PORT, process.env.HOST)
