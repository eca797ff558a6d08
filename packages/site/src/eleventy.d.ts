/** What is used of Eleventy, which has no types of its own. */
declare module '@11ty/eleventy' {
  export interface Config {
    setInputDirectory(path: string): void
    setIncludesDirectory(path: string): void
    setDataDirectory(path: string): void
    setTemplateFormats(formats: readonly string[]): void
    addExtension(extension: string, options: { key: string }): void
    addGlobalData(name: string, value: unknown): void
    addPreprocessor(name: string, extension: string, change: (data: unknown, text: string) => string): void
    addPassthroughCopy(paths: string | Readonly<Record<string, string>>): void
    addPlugin(plugin: unknown, options?: unknown): void
    amendLibrary(name: 'md', change: (library: MarkdownIt) => void): void
    ignores: Set<string>
  }

  /** What templates get. */
  export interface Page {
    page: { inputPath: string; url: string }
    content: string
  }

  /** The parts of markdown-it that are changed. */
  export interface MarkdownIt {
    core: { ruler: { push(name: string, rule: (state: { tokens: Token[]; env: Page }) => void): void } }
    renderer: { rules: Record<string, () => string> }
  }

  export interface Token {
    type: string
    content: string
    attrs: [name: string, value: string][] | null
    children: Token[] | null
    attrGet(name: string): string | null
    attrSet(name: string, value: string): void
  }

  export const HtmlBasePlugin: unknown

  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: {
        quietMode: boolean
        pathPrefix: string
        runMode: 'build' | 'serve'
        config(config: Config): void
      },
    )
    write(): Promise<unknown>
    init(): Promise<unknown>
    watch(): Promise<unknown>
    serve(port: number): Promise<void>
  }
}
