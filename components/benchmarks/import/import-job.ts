import { sendForm, type UploadOptions } from '#lib/browser/api/upload.ts'
import { ApiError } from '#lib/client/api-error.ts'
import { type BenchmarkJobImport, BenchmarkJobImported, benchmarkJobs } from '#lib/contract/benchmark-jobs.ts'
import { readLeniently } from '#lib/contract/lenient.ts'

export const importJob = async (
  archive: Blob,
  choices: BenchmarkJobImport,
  options: UploadOptions,
): Promise<BenchmarkJobImported> => {
  const parts = Object.fromEntries(Object.entries(choices).filter(([, value]) => value.trim() !== ''))
  try {
    const answer = await sendForm(benchmarkJobs.import.path, parts, archive, options)
    return readLeniently(BenchmarkJobImported, JSON.parse(answer))
  } catch (error) {
    // Only Devdeck's service has this endpoint.
    if (error instanceof ApiError && [404, 405, 501].includes(error.status))
      throw new ApiError(error.code, error.status, "This service can't import jobs. Use Devdeck's own service.", {
        cause: error,
      })
    throw error
  }
}
