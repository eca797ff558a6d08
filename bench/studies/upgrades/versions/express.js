const { default: express } = await import(process.argv[2])

const app = express()
app.get('/', (_request, response) => {
  response.type('text').send('Hello World!')
})
app.listen(process.env.PORT, process.env.HOST)
