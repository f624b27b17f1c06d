//! A loss that headers, estimators and threads share.

use super::judged::Judged;
use super::{Loss, by_name};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Any loss. In a file it is its name, with the views that are judged where these are not all; losses of one name are taken to be the
/// same; only the [named](super::named) ones can be read back.
#[derive(Clone)]
pub struct SharedLoss(Arc<dyn Loss>);

impl SharedLoss {
    /// This loss, to be shared.
    pub fn new(loss: impl Loss + 'static) -> Self {
        Self(Arc::new(loss))
    }

    /// The loss of the prediction that some of the views make, ascending.
    pub(crate) fn of_views(self, views: Vec<usize>) -> Self {
        Self::new(Judged { loss: self, views })
    }
}

/// As it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Whole(String),
    OfViews { name: String, views: Vec<usize> },
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
        (self.name(), self.judged()) == (other.name(), other.judged())
    }
}

impl Serialize for SharedLoss {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = self.name().to_owned();
        match self.judged() {
            None => Written::Whole(name),
            Some(views) => Written::OfViews { name, views: views.to_vec() },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SharedLoss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Whole(name) => by_name(&name).map_err(de::Error::custom),
            Written::OfViews { name, views } => {
                let ascending = views.windows(2).all(|pair| pair[0] < pair[1]);
                if views.is_empty() || !ascending {
                    return Err(de::Error::custom("the views that are judged are broken"));
                }
                Ok(by_name(&name).map_err(de::Error::custom)?.of_views(views))
            }
        }
    }
}
