import type { Failure } from '#lib/service/store/blueprints.ts'

/** A failure of the build itself, with a message for its author. */
export class BlueprintError extends Error {
  override readonly name = 'BlueprintError'
  readonly reason: Failure['reason']

  constructor(message: string, reason: Failure['reason'] = 'build_failed') {
    super(message)
    this.reason = reason
  }
}
