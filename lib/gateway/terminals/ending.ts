/** Why a terminal cannot go on: the close code its pages get, and what they are told before. */
export class Ending extends Error {
  readonly closeCode: number
  readonly code: string

  constructor(closeCode: number, code: string, message: string) {
    super(message)
    this.closeCode = closeCode
    this.code = code
  }
}
