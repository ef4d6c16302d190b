import { ApiError } from '#lib/client/api-error.ts'
import { BenchmarkJobImported, benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'
import { sendForm, type UploadOptions } from './upload.ts'

/** Sends the zip of a job that ran elsewhere; resolves when all of it is kept. */
export const importJob = async (archive: Blob, options: UploadOptions): Promise<BenchmarkJobImported> => {
  try {
    const answer = await sendForm(benchmarkJobs.import.path, {}, archive, options)
    return readLeniently(BenchmarkJobImported, JSON.parse(answer))
  } catch (error) {
    // Only a service of Devdeck has this address.
    if (error instanceof ApiError && [404, 405, 501].includes(error.status))
      throw new ApiError(error.code, error.status, 'This service does not import jobs; one of Devdeck does', {
        cause: error,
      })
    throw error
  }
}
