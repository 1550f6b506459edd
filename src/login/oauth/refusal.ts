/** How OAuth says no: a word that programs know, and a sentence. */
export interface Refusal {
  readonly refused:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'invalid_scope'
    | 'invalid_target'
    | 'unsupported_response_type'
    | 'access_denied'
    | 'invalid_redirect_uri'
    | 'invalid_client_metadata';
  readonly why: string;
}
