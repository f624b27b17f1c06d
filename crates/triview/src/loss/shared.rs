//! A loss that headers, estimators and threads share.

use super::{Loss, by_name};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Any loss. In a file it is its name, and losses of one name are taken to be the same; only the
/// [named](super::named) ones can be read back.
#[derive(Clone)]
pub struct SharedLoss(Arc<dyn Loss>);

impl SharedLoss {
    /// This loss, to be shared.
    pub fn new(loss: impl Loss + 'static) -> Self {
        Self(Arc::new(loss))
    }
}

impl Deref for SharedLoss {
    type Target = dyn Loss;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for SharedLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedLoss({:?})", self.name())
    }
}

impl PartialEq for SharedLoss {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Serialize for SharedLoss {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for SharedLoss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        by_name(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
