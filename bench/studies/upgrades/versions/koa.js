const { default: Koa } = await import(process.argv[2])

const app = new Koa()
app.use((ctx) => {
  ctx.body = 'Hello World!'
})
app.listen(process.env.PORT, process.env.HOST)
