/** The reason why a terminal cannot go on, with the code that closes its pages' sockets. */
export class Ending extends Error {
  readonly closeCode: number
  readonly code: string

  constructor(closeCode: number, code: string, message: string) {
    super(message)
    this.closeCode = closeCode
    this.code = code
  }
}
