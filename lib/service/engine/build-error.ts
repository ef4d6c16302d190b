/** A failed image build. */
export class BuildError extends Error {
  override readonly name = 'BuildError'
  /** The Dockerfile instruction that failed, if known. */
  readonly instruction: string | undefined
  constructor(message: string, instruction?: string) {
    super(message)
    this.instruction = instruction
  }
}
