const { default: Fastify } = await import(process.argv[2])

const app = Fastify()
app.get('/', async () => 'Hello World!')
await app.listen({ port: process.env.PORT, host: process.env.HOST })
