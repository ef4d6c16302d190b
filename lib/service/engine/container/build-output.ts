interface BuildMessage {
  stream?: string
  status?: string
  id?: string
  error?: string
  aux?: unknown
}

const buildKitTrace = 'moby.buildkit.trace'

/** Turns messages of a build into lines of output. Keeps the last instruction, for the error. */
export class BuildOutput {
  readonly #output: (line: string) => void
  readonly #rest = new Map<string, string>()
  readonly #named = new Set<string>()
  instruction: string | undefined

  constructor(output: (line: string) => void) {
    this.#output = output
  }

  /** Returns the error that ended the build. */
  take({ stream, status, id, error, aux }: BuildMessage): string | undefined {
    if (stream !== undefined) this.#text('', stream)
    else if (id === buildKitTrace && typeof aux === 'string') this.#trace(Buffer.from(aux, 'base64'))
    else if (status !== undefined && !/^(Downloading|Extracting|Waiting|Verifying)/.test(status))
      this.#output(id === undefined ? status : `${id}: ${status}`)
    return error
  }

  end(): void {
    for (const rest of this.#rest.values()) if (rest !== '') this.#line(rest)
    this.#rest.clear()
  }

  #text(source: string, text: string) {
    const lines = ((this.#rest.get(source) ?? '') + text).split('\n')
    this.#rest.set(source, lines.pop() ?? '')
    for (const line of lines) if (line.trim() !== '') this.#line(line.replace(/\r$/, ''))
  }

  #line(line: string) {
    this.instruction = /^Step \d+\/\d+ : (.+)$/.exec(line)?.[1] ?? this.instruction
    this.#output(line)
  }

  // StatusResponse of BuildKit: vertexes (1) with digest (1), name (3), started (5) and error (7); logs (3) with the
  // vertex (1) and message (4).
  #trace(message: Buffer) {
    for (const [field, bytes] of fieldsOf(message)) {
      const parts = new Map(field === 1 || field === 3 ? fieldsOf(bytes) : [])
      const text = (number: number) => parts.get(number)?.toString('utf8')
      const vertex = text(1) ?? ''
      if (field === 3) this.#text(vertex, text(4) ?? '')
      const name = field === 1 && parts.has(5) ? text(3) : undefined
      if (name === undefined || this.#named.has(vertex) || name.startsWith('[internal]')) continue
      this.#named.add(vertex)
      this.#output(name)
      if (text(7) === undefined) this.instruction = /^\[[^\]]+\] (.+)$/.exec(name)?.[1] ?? this.instruction
    }
  }
}

/** Length-delimited fields of a protobuf message; numbers are skipped. */
const fieldsOf = (message: Buffer): [number, Buffer][] => {
  const fields: [number, Buffer][] = []
  let at = 0
  const varint = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    if (tag % 8 === 2) {
      const length = varint()
      fields.push([Math.floor(tag / 8), message.subarray(at, at + length)])
      at += length
    } else if (tag % 8 === 0) varint()
    else at += tag % 8 === 1 ? 8 : 4
  }
  return fields
}
