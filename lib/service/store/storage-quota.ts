import { statfsSync } from 'node:fs'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const kinds = ['snapshots', 'axons', 'outputs', 'run logs'] as const
export type StorageKind = (typeof kinds)[number]

/**
 * Unspecified: what one account may keep unless the operator says otherwise. Half of the disk, so that no account alone
 * fills it.
 */
export const defaultStorageBytes = (dataDir: string): number => {
  const { blocks, bsize } = statfsSync(dataDir)
  return Math.floor((blocks * bsize) / 2)
}

/**
 * What each account keeps: snapshots, axons with their events and databases, outputs of commands, and the log files of
 * runs, imported ones too. Counted as it is written; `countStored` adds what was there when the service started.
 */
export class StorageQuota {
  readonly #limitBytes: number
  readonly #kept = new Map<string, Record<StorageKind, number>>()

  /** 0 for no limit. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes || Number.POSITIVE_INFINITY
  }

  add(account: string, kind: StorageKind, bytes: number): void {
    const kept = this.#kept.get(account) ?? { snapshots: 0, axons: 0, outputs: 0, 'run logs': 0 }
    kept[kind] += bytes
    this.#kept.set(account, kept)
  }

  /** How much more the account may keep; not negative. */
  room(account: string): number {
    return Math.max(0, this.#limitBytes - this.#usedBytes(account))
  }

  /** Throws 507 unless the account has room for so many bytes more. */
  require(account: string, bytes = 1): void {
    if (bytes <= this.room(account)) return
    const kept = this.#kept.get(account)
    const parts = kinds.flatMap((kind) => (kept?.[kind] ? [`${kind} ${sizeText(kept[kind])}`] : []))
    const used = `${sizeText(this.#usedBytes(account))}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
    throw new ServiceError(
      'insufficient_storage',
      `Account ${account} keeps ${used} of at most ${sizeText(this.#limitBytes)}, and this needs ${sizeText(bytes)} more. ` +
        'Delete snapshots, or ask the operator of the service for more (--max-storage)',
      { shouldRetry: false },
    )
  }

  /** Throws 507 unless there is room, and counts it. */
  take(account: string, kind: StorageKind, bytes: number): void {
    this.require(account, bytes)
    this.add(account, kind, bytes)
  }

  #usedBytes(account: string): number {
    return Object.values(this.#kept.get(account) ?? {}).reduce((sum, bytes) => sum + bytes, 0)
  }
}
