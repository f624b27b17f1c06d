//! Models on disk.
//!
//! A model is a safetensors file: `weight.<view>` (classes x features) and `bias.<view>` (classes) in `f64`, and the names
//! of views, features and classes as JSON in the metadata under `triview`. The scores of a view are `weight x + bias`; those of
//! all views add up to the model's.

use crate::envelope::{Envelope, File, KEY};
use crate::error::Error;
use crate::write::replace;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use triview::data::Schema;
use triview::learning::{FeatureSchema, LogisticModel};
use triview::moments::begins_like_safetensors;

const MODEL: &str = "model";
/// The version of models. A program reads its own version only.
const VERSION: u64 = 1;

/// A model with the names of what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its views and their features.
    pub features: FeatureSchema,
    /// Its views and classes: those of its scores.
    pub schema: Schema,
    /// Its parameters.
    pub model: LogisticModel,
}

/// The names in a model's metadata.
#[derive(Serialize, Deserialize)]
struct Names {
    views: Vec<ViewNames>,
    classes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct ViewNames {
    name: String,
    features: Vec<String>,
}

/// Reads a model.
///
/// # Errors
/// [`Error::Missing`] and its like, [`Error::Foreign`], [`Error::Version`] or [`Error::Damaged`].
pub fn read(path: &Path) -> Result<Model, Error> {
    let file = File { path, what: MODEL, version: VERSION };
    let bytes = file.read(begins_like_safetensors, "it is not in the safetensors format")?;
    let damaged = |reason: &dyn std::fmt::Display| file.damaged(reason);
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| damaged(&error))?;
    let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let text = text.ok_or_else(|| file.foreign("its tensors were made by another program"))?;
    let Names { views, classes } = file.open_envelope(text.as_bytes())?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(&error))?;
    let numbers = |name: &str, shape: &[usize]| -> Result<Vec<f64>, Error> {
        let tensor = tensors.tensor(name).map_err(|error| damaged(&error))?;
        if tensor.dtype() != Dtype::F64 || tensor.shape() != shape {
            let (dtype, found) = (tensor.dtype(), tensor.shape());
            return Err(damaged(&format!(
                "tensor `{name}` is {dtype:?} of shape {found:?}, not F64 of {shape:?}"
            )));
        }
        let (cells, _) = tensor.data().as_chunks::<8>();
        let numbers: Vec<f64> = cells.iter().map(|cell| f64::from_le_bytes(*cell)).collect();
        match numbers.iter().find(|number| !number.is_finite()) {
            Some(number) => Err(damaged(&format!("tensor `{name}` holds {number}: train the model again"))),
            None => Ok(numbers),
        }
    };
    let (k, mut weights, mut bias) = (classes.len(), Vec::new(), Vec::new());
    for ViewNames { name, features } in &views {
        let by_class = numbers(&format!("weight.{name}"), &[k, features.len()])?;
        weights.push(transposed(&by_class, k, features.len()));
        bias.push(numbers(&format!("bias.{name}"), &[k])?);
    }
    let schema = Schema::new(views.iter().map(|view| view.name.clone()).collect(), classes);
    let schema = schema.map_err(|error| damaged(&error))?;
    let features = views.into_iter().map(|view| (view.name, view.features)).collect();
    let features = FeatureSchema::new(features).map_err(|error| damaged(&error))?;
    let model = LogisticModel::new(weights, bias).map_err(|error| damaged(&error))?;
    Ok(Model { features, schema, model })
}

/// Writes a model, whole or not at all.
///
/// # Errors
/// [`Error::Write`].
pub fn write(path: &Path, model: &Model) -> Result<(), Error> {
    let refuse = |source| Error::Write { path: path.into(), source };
    let Model { features, schema, model } = model;
    let views = features
        .views()
        .iter()
        .enumerate()
        .map(|(view, name)| ViewNames { name: name.clone(), features: features.features(view).to_vec() });
    let names = Names { views: views.collect(), classes: schema.classes().to_vec() };
    let envelope = Envelope { triview: MODEL, version: VERSION, header: &names };
    let text = serde_json::to_string(&envelope).map_err(|error| refuse(error.into()))?;
    let k = model.classes();
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let mut cells = Vec::new();
    for (view, name) in features.views().iter().enumerate() {
        let width = features.features(view).len();
        let by_class = transposed(model.weights(view), width, k);
        cells.push((format!("weight.{name}"), vec![k, width], bytes(&by_class)));
        cells.push((format!("bias.{name}"), vec![k], bytes(model.bias(view))));
    }
    let other = |error: safetensors::SafeTensorError| refuse(std::io::Error::other(error));
    let mut tensors = Vec::new();
    for (name, shape, cells) in &cells {
        tensors.push((name.as_str(), TensorView::new(Dtype::F64, shape.clone(), cells).map_err(other)?));
    }
    let metadata = HashMap::from([(KEY.to_owned(), text)]);
    let bytes = safetensors::serialize(tensors, Some(metadata)).map_err(other)?;
    replace(path, |output| output.write_all(&bytes).map_err(refuse))
}

/// A matrix of cells row by row, transposed.
fn transposed(cells: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..cells.len()).map(|at| cells[at % rows * columns + at / rows]).collect()
}
