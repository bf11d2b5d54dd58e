package shop

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/article"
)

// articleView is an article as callers see it.
type articleView struct {
	ArticleID   string        `json:"article_id"`
	State       article.State `json:"state"`
	Version     int64         `json:"version"`
	Title       string        `json:"title"`
	Body        string        `json:"body"`
	PublishedAt *time.Time    `json:"published_at"`
	// Outcome is what this request did; a second click on "publish" is Replayed,
	// with the time of the first.
	Outcome fsm.Outcome `json:"outcome,omitempty"`
}

func writeArticle(w http.ResponseWriter, status int, row article.Row, outcome fsm.Outcome) error {
	w.Header().Set("ETag", strconv.Quote(strconv.FormatInt(row.Version, 10)))
	return writeJSON(w, status, articleView{string(row.ArticleID), row.Status, row.Version, row.Title, row.Body, row.PublishedAt, outcome})
}

// createArticle takes a draft under the author's own key.
func (s *Service) createArticle(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ArticleID string `json:"article_id"`
		Title     string `json:"title"`
		Body      string `json:"body"`
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	var f fields
	id := f.uuid("article_id", body.ArticleID)
	f.text("title", body.Title)
	f.prose("body", body.Body)
	if f.err != nil {
		return f.err
	}
	options, err := s.callOptions(r)
	if err != nil {
		return err
	}
	result, err := article.Create(r.Context(), s.pool, article.CreateParams{Key: article.Key(id), Title: body.Title, Body: body.Body}, options...)
	if err != nil {
		return err
	}
	if err := result.Err(); err != nil {
		return err
	}
	status := http.StatusCreated
	if result.Outcome == fsm.Replayed {
		status = http.StatusOK
	}
	return writeArticle(w, status, result.Row, result.Outcome)
}

// publishArticle and archiveArticle are called by people, who click twice.
func (s *Service) publishArticle(w http.ResponseWriter, r *http.Request) error {
	return s.fireArticle(w, r, article.EventPublish, article.Publish)
}

func (s *Service) archiveArticle(w http.ResponseWriter, r *http.Request) error {
	return s.fireArticle(w, r, article.EventArchive, article.Archive)
}

// articleCall is an article's event, as the generated package has it.
type articleCall func(context.Context, fsm.DB, article.Key, ...fsm.Option) (article.Result, error)

func (s *Service) fireArticle(w http.ResponseWriter, r *http.Request, event article.Event, fire articleCall) error {
	var f fields
	id := f.uuid("article_id", r.PathValue("id"))
	if f.err != nil {
		return f.err
	}
	options, err := s.callOptions(r)
	if err != nil {
		return err
	}
	result, err := fire(r.Context(), s.pool, article.Key(id), options...)
	if err != nil {
		return err
	}
	s.counters.outcome("article", string(event), result.Outcome)
	if err := result.Err(); err != nil {
		return err
	}
	return writeArticle(w, http.StatusOK, result.Row, result.Outcome)
}

func (s *Service) getArticle(w http.ResponseWriter, r *http.Request) error {
	var f fields
	id := f.uuid("article_id", r.PathValue("id"))
	if f.err != nil {
		return f.err
	}
	row, err := article.Get(r.Context(), s.pool, article.Key(id))
	if err != nil {
		return err
	}
	if !row.Status.Valid() {
		return &fsm.UnknownStateError{Machine: "article", State: string(row.Status)}
	}
	return writeArticle(w, http.StatusOK, row, "")
}
