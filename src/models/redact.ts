/** Secrets out of texts that are shown, logged or stored. Providers like to repeat the key that they refuse. */

const patterns: readonly [RegExp, string][] = [
  [
    /\b(authorization|proxy-authorization|x-api-key|api[-_]?key|access[-_]?token|password|secret)(["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;&}]+/gi,
    '$1$2[redacted]',
  ],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_]?[\w*.-]{8,}/g, '[redacted]'],
  [/\b(https?:\/\/)[^\s/@]{1,200}@/gi, '$1[redacted]@'],
  [/([?&](?:key|token|api[-_]?key)=)[^\s&"']+/gi, '$1[redacted]'],
]

/** @param secrets values that must not appear in any spelling known here, such as the key in use */
export const redact = (text: string, secrets: readonly string[] = []): string => {
  const known = secrets.filter((secret) => secret.length >= 6)
  const without = known.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text)
  return patterns.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), without)
}
