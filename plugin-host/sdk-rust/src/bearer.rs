use subtle::ConstantTimeEq;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

const AUTHORIZATION: &str = "authorization";

/// Turns away who does not show the token. Compared in a time that tells nothing of it but its length, which is no secret.
#[derive(Clone)]
pub(crate) struct ExpectBearer(Vec<u8>);

impl ExpectBearer {
    pub(crate) fn new(token: &str) -> Self {
        ExpectBearer(format!("Bearer {token}").into_bytes())
    }
}

impl Interceptor for ExpectBearer {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let shown = request.metadata().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        if bool::from(shown.ct_eq(&self.0)) {
            return Ok(request);
        }
        Err(Status::unauthenticated("the token of this call is missing or wrong"))
    }
}

/// Shows a token with every call.
#[derive(Clone)]
pub(crate) struct ShowBearer(MetadataValue<Ascii>);

impl ShowBearer {
    /// Fails when the token holds what no header may.
    pub(crate) fn new(token: &str) -> crate::Result<Self> {
        let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse()?;
        value.set_sensitive(true);
        Ok(ShowBearer(value))
    }
}

impl Interceptor for ShowBearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert(AUTHORIZATION, self.0.clone());
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_is_let_in() {
        let mut door = ExpectBearer::new("secret");
        let mut shown = |value: Option<&str>| {
            let mut request = Request::new(());
            if let Some(value) = value {
                request.metadata_mut().insert(AUTHORIZATION, value.parse().unwrap());
            }
            door.call(request).is_ok()
        };
        assert!(shown(Some("Bearer secret")));
        for wrong in [None, Some(""), Some("Bearer "), Some("Bearer secre"), Some("Bearer secret2"), Some("secret")] {
            assert!(!shown(wrong), "{wrong:?}");
        }
    }
}
